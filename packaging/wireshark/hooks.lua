-- SPDX-License-Identifier: MIT
-- What the table cannot express: lengths that an earlier value states, messages in several packets, checksums.

local function bytes_of(hex)
    local bytes = {}
    for pair in hex:gmatch("%x%x") do bytes[#bytes + 1] = tonumber(pair, 16) end
    return bytes
end

local function hex_of(bytes, first, last)
    local parts = {}
    for i = first, last do parts[#parts + 1] = string.format("%02x", bytes[i]) end
    return table.concat(parts)
end

local function text_of(context)
    local left = context.last - context.position
    return left > 0 and context.range(context.position, left):raw() or ""
end

-- ---- Bose: ranges and lengths that the device states

local SAMPLE_LENGTHS = {[0] = 7, 7, 10, 8, 7, 7, 12}
local RECORD_HEADER = 3

local function signed(high, low)
    local value = high * 256 + low
    return value >= 32768 and value - 65536 or value
end

local function sensors_in(bytes)
    local sensors = {}
    for at = 1, #bytes - 11, 12 do
        local record = {scaled_min = signed(bytes[at + 1], bytes[at + 2]), scaled_max = signed(bytes[at + 3], bytes[at + 4]),
            raw_min = signed(bytes[at + 5], bytes[at + 6]), raw_max = signed(bytes[at + 7], bytes[at + 8]),
            length = bytes[at + 11]}
        if not sensors[bytes[at]] and record.scaled_min <= record.scaled_max and record.raw_min < record.raw_max then
            sensors[bytes[at]] = record
        end
    end
    return sensors
end

-- Records of 3 bytes, or of 2 (firmware of 2018), else nil. Of two that fit, the one without a remainder.
local function gesture_form(bytes)
    local function fits(size)
        for at = 1, #bytes - size + 1, size do
            if bytes[at] < 0x80 or (size == 3 and bytes[at + 2] ~= 0) then return false end
        end
        return true
    end
    local current, older = fits(3), #bytes % 2 == 0 and fits(2)
    if current and (not older or #bytes % 3 == 0) then return 3 end
    return older and 2 or nil
end

function hooks.remember(known, entry, memory)
    if known.title ~= "bose" or entry.kind == "write" then return end
    local bytes = bytes_of(entry.hex)
    if entry.layout == "sensor_information" then
        memory.sensors = sensors_in(bytes)
    elseif entry.layout == "gesture_information" then
        local size = gesture_form(bytes)
        memory.gestures = {}
        for at = 1, size and #bytes - size + 1 or 0, size or 1 do
            memory.gestures[bytes[at]] = memory.gestures[bytes[at]] or bytes[at + 1]
        end
    end
end

function hooks.before.bose_sample(context, tree)
    local left = context.last - context.position
    if left < RECORD_HEADER then return fail(context, tree, "truncated", "the value ends within a record") end
    local id = context.range(context.position, 1):uint()
    local sensors = context.state.sensors
    local record = sensors and sensors[id]
    local usual = SAMPLE_LENGTHS[id]
    if not record and not usual then return fail(context, tree, "unknown", "a sensor without a known length") end
    local length = record and record.length or usual
    if left - RECORD_HEADER < length then return fail(context, tree, "truncated", "the value ends within a record") end
    context.values.sample_length = length
    context.values.form = (not usual or (sensors and not record) or length < usual) and "skipped" or id
    context.record = record
    return true
end

function hooks.scale.bose_sensor(context, raw)
    local by = context.record
    if not by then return nil end
    return (raw - by.raw_min) * (by.scaled_max - by.scaled_min) / (by.raw_max - by.raw_min) + by.scaled_min
end

function hooks.before.bose_gestures(context, tree)
    context.values.form = gesture_form(bytes_of(tostring(context.range:bytes()):sub(1, 2 * context.last)))
    return context.values.form ~= nil or fail(context, tree, "bad", "records of neither length")
end

function hooks.before.bose_gesture_entry(context, tree)
    local id = context.range(context.position, 1):uint()
    local length = context.state.gestures and context.state.gestures[id] or 1
    if context.position + 1 + length > context.last then
        return fail(context, tree, "truncated", "the value ends within an entry")
    end
    context.values.form = length > 0 and 1 or 0
    context.values.rest_length = length - 1
    return true
end

function hooks.after.skipped(context, tree) fail(context, tree, "unknown", "not a sample that the device describes") end

function hooks.after.bose_sensor(context, tree)
    local v = context.values
    if v.scaled_min > v.scaled_max or v.raw_min >= v.raw_max then fail(context, tree, "bad", "not a range") end
end

-- Angles of the head in degrees: docs/protocols/bose.md, "Frames of reference and angles", variant head.
local function angle(which)
    return function(context)
        local v = context.values
        if not context.record then return nil end
        local x, y, z, w = v.w, v.z, -v.y, -v.x
        if which == "pitch" then return math.deg(math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))) end
        if which == "yaw" then return -math.deg(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))) end
        return -math.deg(math.asin(math.max(-1, math.min(1, 2 * (w * y - z * x)))))
    end
end
hooks.derived.pitch, hooks.derived.roll, hooks.derived.yaw = angle("pitch"), angle("roll"), angle("yaw")

-- ---- feelSpace: the length selects the form

function hooks.before.length(context)
    context.values.length = context.last - context.position
    return true
end

-- ---- Activ5: texts in frames, which may be split or follow each other in a notification

local FRAME_START, FRAME_END, CONTENT_MAX, FRAGMENT_TIMEOUT_S = 0x12, 0x13, 128, 0.5
local KINDS = {{"TC5k", 0, "initial"}, {"IS", 0, "isometric"}, {"i", 1, "uuid1"}, {"I", 1, "uuid2"}, {"SN1", 1, "sn1"},
    {"SN2", 1, "sn2"}}

-- RFC 3629, section 4: bytes of the sequence at a position, 0: none.
local function sequence_length(text, at)
    local first = text:byte(at)
    if first < 0x80 then return 1 end
    local count = first < 0xE0 and 2 or first < 0xF0 and 3 or 4
    if first < 0xC2 or first > 0xF4 or at + count - 1 > #text then return 0 end
    local low = first == 0xE0 and 0xA0 or first == 0xF0 and 0x90 or 0x80
    local high = first == 0xED and 0x9F or first == 0xF4 and 0x8F or 0xBF
    if text:byte(at + 1) < low or text:byte(at + 1) > high then return 0 end
    for i = at + 2, at + count - 1 do
        if text:byte(i) < 0x80 or text:byte(i) > 0xBF then return 0 end
    end
    return count
end

local function is_utf8(text)
    local at = 1
    while at <= #text do
        local count = sequence_length(text, at)
        if count == 0 then return false end
        at = at + count
    end
    return true
end

function hooks.check.utf8(context, tree, range)
    if not is_utf8(range:raw()) then fail(context, tree, "bad", "not UTF-8") end
end

-- The number of a force: every "IS" left out, up to the first '/'.
local function force_of(text)
    local plain = text:gsub("IS", "")
    local number = plain:match("^([+-]?%d+)/") or plain:match("^([+-]?%d+%.%d+)/")
    return number and tonumber((number:gsub("^%+", "")))
end

-- Kind of a content, and where its value starts.
local function classify(first)
    local skip = #first > 0 and math.max(0, sequence_length(first, 1)) or 0
    for _, kind in ipairs(KINDS) do
        local from = kind[2] == 0 and 0 or skip
        if first:sub(from + 1, from + #kind[1]) == kind[1] then return kind[3], from + #kind[1] end
    end
    return "unknown", #first
end

function hooks.before.activ5_content(context, tree)
    local text, v = text_of(context), context.values
    if #text > CONTENT_MAX then return fail(context, tree, "bad", "more than 128 bytes") end
    if not is_utf8(text) then return fail(context, tree, "bad", "not UTF-8") end
    local first = text:match("^[^;]*")
    if first == "" then return fail(context, tree, "bad", "empty") end
    local value
    v.form, value = classify(first)
    v.tag_length = v.form == "initial" and #first or value
    v.value_length = #first - value
    if v.form == "initial" then
        local position = #first
        for _, name in ipairs({"version_length", "field2_length", "battery_length"}) do
            if position < #text then
                v[name] = #text:sub(position + 2):match("^[^;]*")
                position = position + 1 + v[name]
            end
        end
        if not v.version_length then return fail(context, tree, "bad", "without a version") end
    elseif v.form == "isometric" then
        v.force = force_of(first)
        if not v.force then return fail(context, tree, "bad", "not a number") end
    end
    return true
end

function hooks.derived.activ5_raw(context) return context.values.force end
function hooks.derived.activ5_newtons(context) return context.values.force * 1.08625263633 end

function hooks.before.activ5_command(context)
    context.values.command_length = math.max(0, context.last - 2)
    return true
end

local function index_of(bytes, wanted, from, last)
    for i = from, last do
        if bytes[i] == wanted then return i end
    end
    return last + 1
end

-- The state machine of docs/protocols/activ5.md, "Text".
function hooks.collect.activ5(entry, memory, kind, pinfo)
    if kind == "write" then return {} end
    local bytes, pieces = bytes_of(entry.hex), {}
    local function error(text) pieces[#pieces + 1] = {error = text} end
    local function deliver(content, ended)
        memory.collected = nil
        local text = content:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end)
        local first = text:match("^[^;]*")
        if ended or (is_utf8(text) and classify(first) == "isometric" and force_of(first)) then
            pieces[#pieces + 1] = {layout = "text_message", hex = content}
        else
            error("a text without its end")
        end
    end
    local function collect(from, last)
        local all = (memory.collected or "") .. hex_of(bytes, from, last)
        if #all > 2 * CONTENT_MAX then
            memory.collected = nil
            error("a text of more than 128 bytes")
            return false
        end
        memory.collected, memory.time = all, pinfo.abs_ts
        return true
    end
    local function scan(from)
        local at = index_of(bytes, FRAME_START, from, #bytes)
        while at <= #bytes do
            local start = at + 1
            local last = index_of(bytes, FRAME_END, start, #bytes)
            local nested = index_of(bytes, FRAME_START, start, last - 1)
            if nested < last then error("a text without its end") end
            while nested < last do
                start = nested + 1
                nested = index_of(bytes, FRAME_START, start, last - 1)
            end
            if last > #bytes then
                collect(start, #bytes)
                return
            end
            deliver(hex_of(bytes, start, last - 1), true)
            at = index_of(bytes, FRAME_START, last, #bytes)
        end
    end
    if memory.collected and pinfo.abs_ts - memory.time >= FRAGMENT_TIMEOUT_S then deliver(memory.collected, false) end
    local last = index_of(bytes, FRAME_END, 1, #bytes)
    if #bytes == 0 then
        error("empty")
    elseif memory.collected and index_of(bytes, FRAME_START, 1, last - 1) < last then
        deliver(memory.collected, false)
        scan(1)
    elseif memory.collected then
        if not collect(1, last - 1) then
            scan(last)
        elseif last <= #bytes then
            deliver(memory.collected, true)
            scan(last)
        end
    elseif index_of(bytes, FRAME_START, 1, #bytes) > #bytes then
        deliver(hex_of(bytes, 1, last - 1), true)
    else
        scan(1)
    end
    return pieces
end

-- ---- Obvious: segments to frames, and the checks of a frame

local CONTROL, FIRST, LAST, HEADER = 0x04, 0x20, 0x10, 4
local MESSAGE_TIMEOUT_S = 3

function hooks.before.obvious_segment(context, tree)
    if context.last < HEADER then return fail(context, tree, "truncated", "shorter than its header") end
    local flags = context.range(0, 1):uint()
    local is_control = bit.band(flags, CONTROL) ~= 0
    context.values.form = is_control and "control" or bit.band(flags, FIRST) ~= 0 and "first" or "other"
    return true
end

function hooks.after.obvious_flags(context, tree)
    if bit.band(context.values.flags, 0xC3) ~= 0x40 then fail(context, tree, "bad", "reserved flags, or another version") end
end

function hooks.after.obvious_status(context, tree)
    if context.range(0, 3):raw() ~= "OGP" then fail(context, tree, "bad", "not OGP") end
end

-- One open message per direction; a segment that is held already changes nothing.
function hooks.collect.obvious(entry, memory, kind, pinfo)
    local bytes = bytes_of(entry.hex)
    local key = kind == "write" and "requests" or "responses"
    local flags = bytes[1]
    if #bytes < HEADER or bit.band(flags, CONTROL) ~= 0 or bit.band(flags, 0xC3) ~= 0x40 then return {} end
    local side = memory[key] or {}
    memory[key] = side
    local sequence, index = bytes[2], bytes[3] + 256 * bytes[4]
    if side.open and pinfo.abs_ts - side.time > MESSAGE_TIMEOUT_S then side.open = nil end
    if not side.open and side.done == sequence then return {} end
    if not side.open or side.open ~= sequence then side.open, side.parts, side.count = sequence, {}, nil end
    side.time = pinfo.abs_ts
    if bit.band(flags, FIRST) ~= 0 and #bytes < HEADER + 2 then return {} end
    side.parts[index] = hex_of(bytes, bit.band(flags, FIRST) ~= 0 and HEADER + 3 or HEADER + 1, #bytes)
    if bit.band(flags, LAST) ~= 0 then side.count = index + 1 end
    if not side.count then return {} end
    local whole = ""
    for i = 0, side.count - 1 do
        if not side.parts[i] then return {} end
        whole = whole .. side.parts[i]
    end
    side.done, side.open = sequence, nil
    return {{layout = "frame", hex = whole}}
end

local function crc32(bytes, last)
    local crc = 0xFFFFFFFF
    for i = 1, last do
        crc = bit.bxor(crc, bytes[i])
        for _ = 1, 8 do
            local low = bit.band(crc, 1)
            crc = bit.rshift(crc, 1)
            if low == 1 then crc = bit.bxor(crc, 0xEDB88320) end
        end
    end
    return bit.bxor(crc, 0xFFFFFFFF) % 0x100000000
end

function hooks.after.obvious_frame(context, tree)
    local v = context.values
    local response, event, error = v.flags % 2 == 1, v.flags % 4 >= 2, v.flags % 8 >= 4
    if response and event then fail(context, tree, "bad", "a response and an event") end
    if (v.corr == 0) ~= event then fail(context, tree, "bad", "the request id does not fit the flags") end
    if error ~= (v.status ~= 0) or (error and not response) then fail(context, tree, "bad", "the status does not fit the flags") end
    if context.last > 4096 then fail(context, tree, "bad", "longer than 4096 bytes") end
    local bytes = bytes_of(tostring(context.range:bytes()))
    if crc32(bytes, context.position - 4) ~= v.crc then fail(context, tree, "bad", "wrong checksum") end
end

function hooks.after.obvious_hello(context, tree)
    if context.values.proto_min > context.values.proto_max then fail(context, tree, "bad", "proto_min above proto_max") end
end

function hooks.after.obvious_begin(context, tree)
    local v = context.values
    if v.manifest_length ~= (v.obj == 2 and 136 or 0) then fail(context, tree, "bad", "length of the manifest") end
end

function hooks.after.obvious_progress(context, tree)
    if context.values.offset > context.values.total then fail(context, tree, "bad", "offset above total") end
end
