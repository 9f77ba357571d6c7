--[[
  Give back the stock of orders that closed. Safe to run any number of times, in any order, with any overlap.
    KEYS[1]  activity:{ID}:stock   counter: units that are free
    KEYS[2]  activity:{ID}:users   set of users with an active order
    KEYS[3]  activity:{ID}:holds   hash: order -> "state:quantity:atMs:user", state h(eld) s(old) r(eleased)
    KEYS[4]  activity:{ID}:gen     generation; absent: not loaded
    ARGV     order ids, 1 to 1000 (unpack fails near 8000)
  Returns 'not_ready' (also for a counter that is no number), or in ARGV order the units each order gave back: 0
  means it held none.
    held      credits its units and drops its user; its marker keeps the units, and in the user's place since when
              they were held: so an audit can tell what was held at any moment
    unknown   is marked released without credit, so that a reserve that arrives late is refused
    sold      is left alone: a paid order never gives stock back
    released  is left alone; so is an order named twice in one call
  Everything is read and checked before the first write.
]]
if not tonumber(redis.call('GET', KEYS[1])) or redis.call('EXISTS', KEYS[4]) ~= 1 then
  return 'not_ready'
end
redis.call('SCARD', KEYS[2])

local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local known = redis.call('HMGET', KEYS[3], unpack(ARGV))
local given, marks, users, seen, total = {}, {}, {}, {}, 0
for i, order in ipairs(ARGV) do
  local units = 0
  if not seen[order] then
    seen[order] = true
    local state, marker = 'unknown', 'r:0:' .. now .. ':'
    if known[i] then
      local quantity, heldFrom, user
      state, quantity, heldFrom, user = string.match(known[i], '^([hsr]):(%d+):(%d+):(.*)$')
      if not state then
        return redis.error_reply('LAPSE_STOCK_CORRUPT hold of order ' .. order)
      end
      if state == 'h' then
        units = tonumber(quantity)
        users[#users + 1] = user
        marker = 'r:' .. quantity .. ':' .. now .. ':' .. heldFrom
      end
    end
    if state == 'h' or state == 'unknown' then
      marks[#marks + 1] = order
      marks[#marks + 1] = marker
    end
  end
  given[i] = units
  total = total + units
end

-- The counter first: it may still be no whole number, and then nothing else is written.
if total > 0 then
  redis.call('INCRBY', KEYS[1], total)
  redis.call('SREM', KEYS[2], unpack(users))
end
if #marks > 0 then
  redis.call('HSET', KEYS[3], unpack(marks))
end
return given
