--[[
  Hold stock for one order. Sent again for the same order it answers the same and moves nothing.
    KEYS[1]  activity:{ID}:stock   counter: units that are free
    KEYS[2]  activity:{ID}:users   set of users with an active order
    KEYS[3]  activity:{ID}:holds   hash: order -> "state:quantity:atMs:user", state h(eld) s(old) r(eleased)
    KEYS[4]  activity:{ID}:gen     generation these keys were loaded under; absent: not loaded
    KEYS[5]  activity:{ID}:seen    bitmap of the buyers who may have had an order since the load, or had one that the
             load knew; absent, or no text: anybody may
    ARGV     generation, order id, user id, quantity, hash of the user id: a whole number below 2^32
  Returns one of
    reserved    the order holds its units (or has sold them)
    released    this order was given back before, and never holds again
    user_holds  another order of this user is active
    sold_out    fewer units are free than asked for, and this buyer may have had an order here before
    sold_out_newcomer  the same, and this buyer never had one: no key of theirs has an answer to repeat here
    not_ready   not loaded, loaded under another generation, or the counter is not one that a script wrote
  Everything is checked before the first write, so a refusal leaves no trace.
]]
local generation, order, user, quantity = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

-- Lua takes 12.5, 0x10 and inf for numbers too, and DECRBY takes none of them: only what DECRBY writes counts.
local function counterOf(text)
  local whole = text and (text == '0' or string.match(text, '^%-?[1-9]%d*$')) and #text <= 15
  return whole and tonumber(text)
end

local free = counterOf(redis.call('GET', KEYS[1]))
if redis.call('GET', KEYS[4]) ~= generation or not free then
  return 'not_ready'
end

local known = redis.call('HGET', KEYS[3], order)
if known then
  local state, units, holder = string.match(known, '^([hsr]):(%d+):%d+:(.*)$')
  if state == 'r' then
    return 'released'
  end
  if not state or holder ~= user or tonumber(units) ~= quantity then
    return redis.error_reply('LAPSE_STOCK_HOLD_DIFFERS order ' .. order .. ' is held otherwise')
  end
  return 'reserved'
end

if redis.call('SISMEMBER', KEYS[2], user) == 1 then
  return 'user_holds'
end

-- The map's length is its size. No bit is set where there is none: a new map would know only those who come from now on.
local length = redis.pcall('STRLEN', KEYS[5])
local bits = type(length) == 'number' and length * 8 or 0
local bit = bits > 0 and tonumber(ARGV[5]) % bits
if free < quantity then
  return bit and redis.call('GETBIT', KEYS[5], bit) == 0 and 'sold_out_newcomer' or 'sold_out'
end

-- The time of this server: holds are compared with each other, never with a worker's clock.
local time = redis.call('TIME')
local at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
-- Before MySQL can know the order. It stays when the order ends: then its key still has an answer.
if bit then
  redis.call('SETBIT', KEYS[5], bit, 1)
end
redis.call('DECRBY', KEYS[1], quantity)
redis.call('SADD', KEYS[2], user)
redis.call('HSET', KEYS[3], order, 'h:' .. string.format('%.0f', quantity) .. ':' .. at .. ':' .. user)
return 'reserved'
