--[[
  Hold stock for one order. Sent again for the same order it answers the same and moves nothing.
    KEYS[1]  activity:{ID}:stock   counter: units that are free
    KEYS[2]  activity:{ID}:users   set of users with an active order
    KEYS[3]  activity:{ID}:holds   hash: order -> "state:quantity:atMs:user", state h(eld) s(old) r(eleased)
    KEYS[4]  activity:{ID}:gen     generation these keys were loaded under; absent: not loaded
    ARGV     generation, order id, user id, quantity
  Returns one of
    reserved    the order holds its units (or has sold them)
    released    this order was given back before, and never holds again
    user_holds  another order of this user is active
    sold_out    fewer units are free than asked for
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
if free < quantity then
  return 'sold_out'
end

-- The time of this server: holds are compared with each other, never with a worker's clock.
local time = redis.call('TIME')
local at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('DECRBY', KEYS[1], quantity)
redis.call('SADD', KEYS[2], user)
redis.call('HSET', KEYS[3], order, 'h:' .. string.format('%.0f', quantity) .. ':' .. at .. ':' .. user)
return 'reserved'
