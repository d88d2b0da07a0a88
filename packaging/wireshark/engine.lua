-- SPDX-License-Identifier: MIT
-- Decodes values by the table: each field, its checks, its subtree. `hooks` has what a table cannot express.

local proto = Proto("tendon", "Tendon wearables")
local experts = {
    truncated = ProtoExpert.new("tendon.truncated", "The value ends within this field", expert.group.MALFORMED,
        expert.severity.ERROR),
    bad = ProtoExpert.new("tendon.bad", "The protocol does not permit this", expert.group.MALFORMED,
        expert.severity.ERROR),
    unknown = ProtoExpert.new("tendon.unknown", "Not in the protocol", expert.group.UNDECODED, expert.severity.WARN),
    trailing = ProtoExpert.new("tendon.trailing", "Bytes after the last field", expert.group.UNDECODED,
        expert.severity.NOTE),
}
local all_experts, all_fields = {}, {}
for _, one in pairs(experts) do all_experts[#all_experts + 1] = one end

local widths = {u8 = 1, i8 = 1, u16 = 2, i16 = 2, u24 = 3, i24 = 3, u32 = 4, i32 = 4, u48 = 6, i48 = 6, u64 = 8, i64 = 8,
    f32 = 4, sfloat = 2, float = 4, datetime = 7}
local makers = {u8 = ProtoField.uint8, u16 = ProtoField.uint16, u24 = ProtoField.uint24, u32 = ProtoField.uint32,
    i8 = ProtoField.int8, i16 = ProtoField.int16, i24 = ProtoField.int24, i32 = ProtoField.int32,
    u48 = ProtoField.uint64, u64 = ProtoField.uint64, i48 = ProtoField.int64, i64 = ProtoField.int64}

local function names_of(list)
    if not list then return nil end
    local names = {}
    for _, pair in ipairs(list) do names[pair[1]] = pair[2] end
    return names
end

local function register(field)
    all_fields[#all_fields + 1] = field
    return field
end

local function make_scaled(field, prefix)
    for _, scaled in ipairs(field.scaled or {}) do
        scaled.pf = register(ProtoField.double(prefix .. scaled.name, scaled.name))
    end
end

local function make_bits(field, prefix)
    local unsigned = field.type:gsub("^i", "u")
    for _, bits in ipairs(field.bits) do
        local mask = (2 ^ bits.count - 1) * 2 ^ bits.bit
        local name = prefix .. bits.name
        bits.is_flag = bits.count == 1 and not bits.values and not bits.scaled
        bits.is_signed = field.type ~= unsigned and bits.count > 1 and bits.bit + bits.count == 8 * widths[field.type]
        make_scaled(bits, prefix)
        if widths[field.type] > 4 then -- masks of Lua have 32 bits
            bits.pf = register(bits.is_flag and ProtoField.bool(name, bits.name) or
                makers[bits.is_signed and "i64" or "u64"](name, bits.name, base.DEC, names_of(bits.values)))
        elseif bits.is_flag then
            bits.pf = register(ProtoField.bool(name, bits.name, widths[field.type] * 8, nil, mask))
        else
            bits.pf = register(makers[bits.is_signed and field.type or unsigned](name, bits.name, base.DEC, names_of(bits.values), mask))
        end
    end
end

local function make_field(field, prefix)
    local name = prefix .. (field.name or "")
    -- A single name among numbers stands behind its number, not in the place of all others.
    field.names = names_of(field.values)
    local listed = field.values and #field.values > 1 and field.names or nil
    if field.type == "f32" or field.type == "sfloat" or field.type == "float" then
        field.pf = register(ProtoField.double(name, field.name))
    elseif makers[field.type] then
        local hex = field.base == "hex" and base.HEX or base.DEC
        field.pf = register(makers[field.type](name, field.name, hex, listed))
    elseif field.type == "bytes" then
        field.pf = register(ProtoField.bytes(name, field.name))
    elseif field.type == "utf8" or field.type == "datetime" then
        field.pf = register(ProtoField.string(name, field.name))
    elseif field.type == "derived" then
        field.pf = register(ProtoField.double(name, field.name))
    elseif field.records then
        field.pf = register(ProtoField.none(prefix .. field.records, field.records))
    end
    make_scaled(field, prefix)
    if field.epoch then field.date = register(ProtoField.string(prefix .. field.epoch.name, field.epoch.name)) end
    if field.bits then make_bits(field, prefix) end
end

for family_name, family in pairs(TABLE.families) do
    family.pf = register(ProtoField.string("tendon.family." .. family_name, family.title))
    for layout_name, layout in pairs(family.layouts) do
        layout.name = layout_name
        local prefix = "tendon." .. family_name .. "." .. layout_name .. "."
        layout.pf = register(ProtoField.bytes(prefix:sub(1, -2), layout_name))
        for _, field in ipairs(layout.fields) do make_field(field, prefix) end
    end
end
proto.fields = all_fields
proto.experts = all_experts

-- One value that is being decoded: { family, range, position, last (exclusive), values (by name), state, tree }.

local decode_layout

local function fail(context, tree, which, text)
    context.failed = true
    tree:add_proto_expert_info(experts[which], text)
    return false
end

-- IEEE 11073-20601: a mantissa and a power of ten. Nil: infinite, or not a number.
local function medical(raw, mantissa_bits, exponent_bits)
    local mantissa, exponent = raw % 2 ^ mantissa_bits, math.floor(raw / 2 ^ mantissa_bits)
    if mantissa >= 2 ^ (mantissa_bits - 1) then mantissa = mantissa - 2 ^ mantissa_bits end
    if exponent >= 2 ^ (exponent_bits - 1) then exponent = exponent - 2 ^ exponent_bits end
    if exponent == 0 and math.abs(mantissa) >= 2 ^ (mantissa_bits - 1) - 2 then return nil end
    return mantissa * 10.0 ^ exponent
end

local function float(context, field, range)
    local little = (field.endian or context.family.endian) == "little"
    if field.type == "f32" then return little and range:le_float() or range:float() end
    local raw = little and range:le_uint() or range:uint()
    if field.type == "sfloat" then return medical(raw, 12, 4) end
    return medical(raw, 24, 8)
end

local function integer(context, field, range)
    local little = (field.endian or context.family.endian) == "little"
    if field.type == "u64" or field.type == "u48" then
        return tostring(little and range:le_uint64() or range:uint64())
    end
    if field.type == "i64" or field.type == "i48" then
        return tostring(little and range:le_int64() or range:int64())
    end
    if field.type:sub(1, 1) == "i" then return little and range:le_int() or range:int() end
    return little and range:le_uint() or range:uint()
end

-- Nil, or why the value is not permitted.
local function fault(field, value)
    if field.equals and value ~= field.equals then return "not " .. field.equals end
    if field.any_of then
        for _, permitted in ipairs(field.any_of) do
            if value == permitted then return nil end
        end
        return "not one of its values"
    end
    if field.min and value < field.min and value ~= field.also then return "below " .. field.min end
    if field.max and value > field.max and value ~= field.also then return "above " .. field.max end
    return nil
end

local function add_scaled(context, field, tree, range, value)
    for _, scaled in ipairs(field.scaled or {}) do
        local number
        if scaled.by then
            number = hooks.scale[scaled.by](context, value)
        else
            number = value * (scaled.factor or 1) / (scaled.divisor or 1) + (scaled.offset or 0)
        end
        if number then
            if scaled.cap and number > scaled.cap then number = scaled.cap end
            context.values[scaled.name] = number
            tree:add(scaled.pf, range, number):append_text(" " .. (scaled.unit or "")):set_generated()
        end
    end
end

-- Whether a field is there: a device file says it of fields before.
local function is_present(context, field)
    local condition = field["if"]
    if not condition then return true end
    local value = tonumber(context.values[condition.name]) or 0
    if condition.is then return value == condition.is end
    return (value ~= 0) ~= (condition.zero or false)
end

local function decode_float(context, field, tree, range)
    local value = float(context, field, range)
    if value then
        tree:add(field.pf, range, value):append_text(field.unit and " " .. field.unit or "")
        add_scaled(context, field, tree, range, value)
    else
        tree:add(field.pf, range, 0):set_text(field.name .. ": no number")
    end
    return true
end

-- Date Time of the GATT Specification Supplement: year, month, day, hours, minutes, seconds.
local function decode_date(context, field, tree, range)
    local little = (field.endian or context.family.endian) == "little"
    local year = range(0, 2)
    local text = string.format("%04d-%02d-%02dT%02d:%02d:%02d", little and year:le_uint() or year:uint(), range(2, 1):uint(),
        range(3, 1):uint(), range(4, 1):uint(), range(5, 1):uint(), range(6, 1):uint())
    tree:add(field.pf, range, text)
    context.position = context.position + 7
    return true
end

-- A count since an epoch, as a date.
local function add_epoch(field, tree, range, value)
    local epoch = field.epoch
    if not epoch or tonumber(value) == epoch.unknown then return end
    local seconds = math.floor(tonumber(value) * epoch.factor / epoch.divisor + epoch.offset)
    -- Of the years 1 to 9999; Lua has no other dates everywhere.
    if seconds < -62135596800 or seconds > 253402300799 then return end
    tree:add(field.date, range, os.date("!%Y-%m-%dT%H:%M:%S", seconds) .. epoch.zone):set_generated()
end

local function decode_integer(context, field, tree)
    local width = widths[field.type]
    if context.position + width > context.last then
        if field.optional then return nil end
        return fail(context, tree, "truncated", field.name .. ": the value ends before its " .. width .. " bytes")
    end
    local range = context.range(context.position, width)
    if field.type == "datetime" then return decode_date(context, field, tree, range) end
    if field.type == "f32" or field.type == "sfloat" or field.type == "float" then
        context.position = context.position + width
        return decode_float(context, field, tree, range)
    end
    local value = integer(context, field, range)
    local little = (field.endian or context.family.endian) == "little"
    local item = little and tree:add_le(field.pf, range) or tree:add(field.pf, range)
    if field.unit then item:append_text(" " .. field.unit) end
    if field.values and #field.values == 1 and field.names[value] then
        item:append_text(" (" .. field.names[value] .. ")")
    end
    context.values[field.name] = value
    context.position = context.position + width
    local is_known = not field.unknown or tonumber(value) ~= field.unknown
    for _, bits in ipairs(field.bits or {}) do
        local raw, part = math.floor(math.floor(value / 2 ^ bits.bit) % 2 ^ bits.count) -- 2 in a case, not 2.0
        if bits.is_signed and raw >= 2 ^ (bits.count - 1) then raw = raw - math.floor(2 ^ bits.count) end
        if width > 4 then
            local all = little and range:le_uint64() or range:uint64()
            local exact = all:rshift(bits.bit):lshift(64 - bits.count):rshift(64 - bits.count)
            if bits.is_flag then exact = raw ~= 0 end
            if bits.is_signed then exact = (little and range:le_int64() or range:int64()):arshift(bits.bit) end
            part = item:add(bits.pf, range, exact)
        else
            part = little and item:add_le(bits.pf, range) or item:add(bits.pf, range)
        end
        if bits.unit then part:append_text(" " .. bits.unit) end
        if is_known and raw ~= bits.unknown then add_scaled(context, bits, tree, range, raw) end
        if bits.kept then context.values[bits.kept] = raw end
    end
    if is_known then add_scaled(context, field, tree, range, value) end
    if field.kept then context.values[field.kept] = value end
    add_epoch(field, tree, range, value)
    local wrong = fault(field, value)
    if wrong then fail(context, item, "bad", field.name .. ": " .. wrong) end
    return not (wrong and field.stop)
end

local function decode_bytes(context, field, tree)
    local left = context.last - context.position
    local length = left
    if type(field.length) == "number" then length = field.length end
    if type(field.length) == "string" and field.length ~= "rest" then length = context.values[field.length] end
    if field.optional and (not length or length > left) then return true end
    if length > left then
        return fail(context, tree, "truncated", field.name .. ": the value ends before its " .. length .. " bytes")
    end
    if (field.at_most and length > field.at_most) or (field.at_least and length < field.at_least) then
        fail(context, tree, "bad", field.name .. ": " .. length .. " bytes")
    end
    context.values[field.name] = length
    local range = length > 0 and context.range(context.position, length) or context.range(0, 0)
    context.position = context.position + length
    if field.type == "utf8" then
        tree:add(field.pf, range, length > 0 and range:string(ENC_UTF_8) or "")
        if field.check and length > 0 then hooks.check[field.check](context, tree, range) end
    else
        tree:add(field.pf, range)
    end
    return true
end

local function decode_records(context, field, tree)
    local count = type(field.count) == "number" and field.count or field.count and context.values[field.count]
    local size = field.size or 1
    if field.whole and (context.last - context.position) % field.size ~= 0 then
        return fail(context, tree, "bad", "not a multiple of " .. field.size .. " bytes")
    end
    if field.nonempty and context.last == context.position then return fail(context, tree, "bad", "empty") end
    local made = 0
    while (count and made < count) or (not count and context.last - context.position >= size) do
        local before = context.position
        local item = tree:add(field.pf, context.range(before, 0))
        if not decode_layout(context, field.records, item) then return false end
        local used = context.position - before
        if used == 0 then break end
        item:set_len(used)
        made = made + 1
    end
    return true
end

-- A subtree whose filter value is its bytes.
local function add_layout(tree, layout, range, from, last)
    local item = last > from and tree:add(layout.pf, range(from, last - from)) or tree:add(layout.pf, range(0, 0))
    return item:set_text(layout.name)
end

local function decode_switch(context, field, tree)
    local parts = {}
    for _, name in ipairs(field.switch) do parts[#parts + 1] = tostring(context.values[name]) end
    local chosen = field.cases[table.concat(parts, ".")]
    if not chosen and parts[2] then chosen = field.cases["*." .. parts[2]] end
    chosen = chosen or field.otherwise
    local last = context.last
    if field.length then
        last = context.position + context.values[field.length]
        if last > context.last then return fail(context, tree, "truncated", "the payload is incomplete") end
    end
    if not chosen then
        tree:add_proto_expert_info(experts.unknown, table.concat(field.switch, " and ") .. " " .. table.concat(parts, " "))
        context.failed = true
        context.position = last
        return field.length ~= nil
    end
    local outer = context.last
    context.last = last
    local layout = context.family.layouts[chosen]
    local item = tree
    if not layout.inline then item = add_layout(tree, layout, context.range, context.position, last) end
    -- A payload has fields of its own, which may have the names of the header's.
    local header = context.values
    if field.length then context.values = setmetatable({}, {__index = header}) end
    local fine = decode_layout(context, chosen, item)
    context.last, context.values = outer, header
    if field.length then context.position = last end
    return fine or field.length ~= nil
end

function decode_layout(context, name, tree)
    local layout = context.family.layouts[name]
    if layout.before and not hooks.before[layout.before](context, tree) then return false end
    for _, field in ipairs(layout.fields) do
        local fine
        if not is_present(context, field) then
            if field.name then context.values[field.name] = 0 end
            fine = true
        elseif field.records then
            fine = decode_records(context, field, tree)
        elseif field.switch then
            fine = decode_switch(context, field, tree)
        elseif field.type == "derived" then
            local number = hooks.derived[field.from](context)
            if number then tree:add(field.pf, number):append_text(" " .. (field.unit or "")):set_generated() end
            fine = true
        elseif field.type == "bytes" or field.type == "utf8" then
            fine = decode_bytes(context, field, tree)
        else
            fine = decode_integer(context, field, tree)
        end
        if fine == nil then break end -- without this field there is none after it
        if not fine then return false end
    end
    if layout.after then hooks.after[layout.after](context, tree) end
    if layout.exact and context.position < context.last then
        fail(context, tree, "bad", (context.last - context.position) .. " bytes too many")
    end
    return true
end

-- Decodes a whole value below `parent`; `state` belongs to the connection's server.
local function decode_value(family, layout_name, range, parent, state)
    local context = {family = family, range = range, position = 0, last = range and range:len() or 0, values = {},
        state = state}
    local layout = family.layouts[layout_name]
    -- An empty value has no bytes to point at.
    context.range = range or ByteArray.new("00"):tvb("Empty value"):range()
    local item = add_layout(parent, layout, context.range, 0, context.last)
    if decode_layout(context, layout_name, item) and context.position < context.last then
        item:add_proto_expert_info(experts.trailing, (context.last - context.position) .. " bytes after the last field")
    end
    return context, item
end
