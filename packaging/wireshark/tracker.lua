-- SPDX-License-Identifier: MIT
-- Which handle is which characteristic: Wireshark's own table is per adapter, so it confuses simultaneous connections.
-- The state is built when the packets are first seen, in order; what to show is kept by frame.

local att_field, connection_field = Field.new("btatt"), Field.new("bthci_acl.chandle")
local address_field = Field.new("btle.access_address")
local adapter_field = Field.new("hci_mon.adapter_id")
local event_field, event_handle_field = Field.new("bthci_evt.code"), Field.new("bthci_evt.connection_handle")
local DISCONNECTION_COMPLETE, LE_META = 0x05, 0x3E
local databases, shown, links, connections = {}, {}, {}, {}
local CHARACTERISTIC, SERVICE_CHANGED, DATABASE_HASH, OUT_OF_SYNC = 0x2803, 0x2A05, 0x2B2A, 0x12
local HASH_LENGTH, DEFAULT_MTU, LIST_LIMIT, VALUE_LIMIT = 16, 23, 512, 512

local function digits_of(uuid)
    local digits = uuid:gsub("-", ""):lower()
    if #digits <= 8 then digits = ("00000000" .. digits):sub(-8) .. "00001000800000805f9b34fb" end
    return digits
end

-- Characteristics by UUID, as 32 digits; of one that is in several services, those of each service too.
local by_uuid = {}
for family_name, family in pairs(TABLE.families) do
    for _, characteristic in ipairs(family.characteristics) do
        local digits = digits_of(characteristic.uuid)
        local entry = {family = family, title = family_name, characteristic = characteristic}
        if characteristic.service then by_uuid[digits_of(characteristic.service) .. digits] = entry end
        by_uuid[digits] = by_uuid[digits] or entry
    end
end

local function number_of(bytes, offset, count)
    local value = 0
    for i = count - 1, 0, -1 do value = value * 256 + bytes:get_index(offset + i) end
    return value
end

local function uuid_of(bytes, offset, count)
    local digits = ""
    for i = count - 1, 0, -1 do digits = digits .. string.format("%02x", bytes:get_index(offset + i)) end
    if count == 2 then digits = "0000" .. digits .. "00001000800000805f9b34fb" end
    return digits
end

local function link_name(handle)
    local adapter = adapter_field()
    return (adapter and tostring(adapter.value) or "") .. "/" .. (handle and tostring(handle.value) or "")
end

-- A handle is used again: messages do not go on from one connection to the next.
local function note_connection()
    local event, handle = event_field(), event_handle_field()
    if event and handle and (event.value == DISCONNECTION_COMPLETE or event.value == LE_META) then
        local name = link_name(handle)
        connections[name] = (connections[name] or 0) + 1
    end
end

-- Handles of a device. outdated: Service Changed came, or Database Out Of Sync, and no discovery since.
local function forget_handles(database)
    database.handles, database.count, database.service_changed, database.outdated = {}, 0, nil, false
    database.services = {}
    return database
end

-- The server of a PDU: the address of its side, because discovered handles stay valid for a device that a client knows
-- (GATT cache, bond) as long as its Database Hash is the same; without an address the connection.
local function server_of(pinfo, from_server)
    local address = tostring(from_server and pinfo.dl_src or pinfo.dl_dst)
    local link = link_name(connection_field() or address_field())
    -- Zeros are this side, or a peer whose connection began before the capture; others may be shown by name.
    local known = address ~= "" and not address:find("^00:00:00[:_]00:00:00$")
    local name = known and address or (link .. (from_server == (pinfo.p2p_dir == 1) and "/remote" or "/local"))
    databases[name] = databases[name] or forget_handles({memory = {}})
    link = link .. "/" .. (connections[link] or 0) .. "/" .. name
    if not links[link] then
        links[link] = {mtu = DEFAULT_MTU, memory = {}, discovered = false}
        if databases[name].outdated then forget_handles(databases[name]) end
    end
    return databases[name], links[link]
end

local function show(frame, database, link, handle, kind, bytes, offset, length, pinfo)
    local known = database.handles[handle]
    if not known then return end
    local layout = known.characteristic[kind] or known.characteristic.value
    if not layout then return end
    -- ByteArray has no empty part.
    local hex = length > 0 and bytes:subset(offset, length):tohex() or ""
    local entry = {known = known, layout = layout, kind = kind, hex = hex, memory = {}}
    local hook = known.characteristic.collect
    if hook then
        entry.pieces = hooks.collect[hook](entry, link.memory, kind, pinfo)
    end
    -- A copy: what is known later in the capture does not change how this packet is shown.
    hooks.remember(known, entry, database.memory)
    for key, value in pairs(database.memory) do entry.memory[key] = value end
    shown[frame][#shown[frame] + 1] = entry
end

local function finish_reading(frame, database, link, pinfo)
    local reading = link.reading
    if not reading or reading.shown then return end
    reading.shown = true
    show(frame, database, link, reading.handle, "read", reading.bytes, 0, reading.bytes:len(), pinfo)
end

-- First and last handle of each service.
local function discovered_services(database, bytes)
    local size = bytes:get_index(1)
    if size ~= 6 and size ~= 20 then return end
    for offset = 2, bytes:len() - size, size do
        if #database.services >= LIST_LIMIT then return end
        table.insert(database.services, {first = number_of(bytes, offset, 2), last = number_of(bytes, offset + 2, 2),
            uuid = uuid_of(bytes, offset + 4, size - 4)})
    end
end

local function service_at(database, handle)
    for i = #database.services, 1, -1 do
        local service = database.services[i]
        if service.first <= handle and handle <= service.last then return service.uuid end
    end
    return ""
end

local function discovered(database, link, bytes)
    local size = bytes:get_index(1)
    if size ~= 7 and size ~= 21 then return end
    if database.outdated then forget_handles(database) end
    link.discovered = true
    for offset = 2, bytes:len() - size, size do
        local handle = number_of(bytes, offset + 3, 2)
        if size == 7 and number_of(bytes, offset + 5, 2) == SERVICE_CHANGED then database.service_changed = handle end
        -- false: discovered, and of no family.
        if database.handles[handle] ~= nil or database.count < LIST_LIMIT then
            if database.handles[handle] == nil then database.count = database.count + 1 end
            local uuid = uuid_of(bytes, offset + 5, size - 5)
            database.handles[handle] = by_uuid[service_at(database, handle) .. uuid] or by_uuid[uuid] or false
        end
    end
end

-- Handles of earlier connections are valid if they belong to this hash.
local function read_hash(database, link, bytes)
    if bytes:get_index(1) ~= 2 + HASH_LENGTH or bytes:len() < 4 + HASH_LENGTH then return end
    local hash = bytes:subset(4, HASH_LENGTH):tohex()
    if database.hash and database.hash ~= hash and not link.discovered then
        forget_handles(database)
        database.memory = {}
    end
    if database.hash == hash then database.outdated = false end
    database.hash = hash
end

local function outdate(database, link)
    database.outdated, link.discovered = true, false
end

local requests, responses = {}, {}

requests[0x02] = function(_, link, bytes) link.client_mtu = number_of(bytes, 1, 2) end
requests[0x08] = function(_, link, bytes)
    link.type = bytes:len() == 7 and number_of(bytes, 5, 2)
end
requests[0x0A] = function(_, link, bytes) link.reads = number_of(bytes, 1, 2) end
requests[0x0C] = function(_, link, bytes)
    link.reads = number_of(bytes, 1, 2)
    link.from = bytes:len() >= 5 and number_of(bytes, 3, 2) or 0
end
requests[0x12] = function(database, link, bytes, frame, pinfo)
    show(frame, database, link, number_of(bytes, 1, 2), "write", bytes, 3, bytes:len() - 3, pinfo)
end
requests[0x52] = requests[0x12]

responses[0x03] = function(_, link, bytes)
    link.mtu = math.max(DEFAULT_MTU, math.min(link.client_mtu or DEFAULT_MTU, number_of(bytes, 1, 2)))
end
responses[0x09] = function(database, link, bytes)
    if link.type == CHARACTERISTIC then discovered(database, link, bytes) end
    if link.type == DATABASE_HASH then read_hash(database, link, bytes) end
end
responses[0x11] = function(database, _, bytes) discovered_services(database, bytes) end
responses[0x0B] = function(database, link, bytes, frame, pinfo)
    if not link.reads then return end
    local value = ByteArray.new()
    if bytes:len() > 1 then value = bytes:subset(1, bytes:len() - 1) end
    link.reading = {handle = link.reads, bytes = value}
    -- A shorter response is the whole value.
    if bytes:len() < link.mtu then finish_reading(frame, database, link, pinfo) end
end
responses[0x0D] = function(database, link, bytes, frame, pinfo)
    local reading = link.reading
    if not reading or reading.shown or reading.handle ~= link.reads or link.from ~= reading.bytes:len() then return end
    if bytes:len() > 1 and reading.bytes:len() + bytes:len() - 1 <= VALUE_LIMIT then
        reading.bytes = reading.bytes .. bytes:subset(1, bytes:len() - 1)
    end
    if bytes:len() < link.mtu then finish_reading(frame, database, link, pinfo) end
end
responses[0x01] = function(database, link, bytes, frame, pinfo)
    -- An offset behind the end: the value ended with the response before.
    if bytes:get_index(1) == 0x0C then finish_reading(frame, database, link, pinfo) end
    if bytes:get_index(4) == OUT_OF_SYNC then outdate(database, link) end
end
responses[0x1B] = function(database, link, bytes, frame, pinfo)
    show(frame, database, link, number_of(bytes, 1, 2), "notify", bytes, 3, bytes:len() - 3, pinfo)
end
responses[0x1D] = function(database, link, bytes, frame, pinfo)
    if number_of(bytes, 1, 2) == database.service_changed then outdate(database, link) end
    responses[0x1B](database, link, bytes, frame, pinfo)
end
responses[0x23] = function(database, link, bytes, frame, pinfo)
    local offset = 1
    while offset + 4 <= bytes:len() do
        local length = number_of(bytes, offset + 2, 2)
        if offset + 4 + length > bytes:len() then break end
        show(frame, database, link, number_of(bytes, offset, 2), "notify", bytes, offset + 4, length, pinfo)
        offset = offset + 4 + length
    end
end

-- Shortest PDU of an opcode; others have no handle to read.
local least = {[0x01] = 5, [0x02] = 3, [0x03] = 3, [0x08] = 7, [0x09] = 2, [0x0A] = 3, [0x0B] = 1, [0x0C] = 5,
    [0x0D] = 1, [0x11] = 2, [0x12] = 3, [0x52] = 3, [0x1B] = 3, [0x1D] = 3, [0x23] = 1}

local function track(pinfo, bytes)
    local opcode = bytes:get_index(0)
    local act = requests[opcode] or responses[opcode]
    if not act or bytes:len() < least[opcode] then return end
    local database, link = server_of(pinfo, responses[opcode] ~= nil)
    -- Any request but the next part ends a long read.
    if requests[opcode] and opcode ~= 0x0C and opcode ~= 0x52 then
        finish_reading(pinfo.number, database, link, pinfo)
    end
    act(database, link, bytes, pinfo.number, pinfo)
end

local function part_of(hex, name)
    if hex == "" then return nil end
    return ByteArray.new(hex):tvb(name):range()
end

function proto.dissector(_, pinfo, tree)
    local found = {att_field()}
    if #found == 0 then
        if not pinfo.visited then note_connection() end
        return
    end
    if not shown[pinfo.number] then
        shown[pinfo.number] = {}
        for _, info in ipairs(found) do
            if info.range:len() > 0 then track(pinfo, info.range:bytes()) end
        end
    end
    for _, entry in ipairs(shown[pinfo.number]) do
        local top = tree:add(proto)
        local title = entry.known.family.title .. ": " .. entry.known.characteristic.name
        top:set_text("Tendon, " .. title)
        top:add(entry.known.family.pf, entry.known.characteristic.name):set_generated()
        decode_value(entry.known.family, entry.layout, part_of(entry.hex, title), top, entry.memory)
        for _, piece in ipairs(entry.pieces or {}) do
            if piece.error then
                top:add_proto_expert_info(experts.bad, piece.error)
            else
                decode_value(entry.known.family, piece.layout, part_of(piece.hex, title .. ", whole"), top, entry.memory)
            end
        end
        pinfo.cols.info:append(" [" .. title .. "]")
    end
end

function proto.init()
    databases, shown, links, connections = {}, {}, {}, {}
end

register_postdissector(proto)
