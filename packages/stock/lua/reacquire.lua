--[[
  Sell to orders that were paid after they closed, as MySQL has decided. Safe to run any number of times.
    KEYS[1]  activity:{ID}:stock   counter: units that are free
    KEYS[2]  activity:{ID}:users   set of users with an active order
    KEYS[3]  activity:{ID}:holds   hash: order -> "state:quantity:atMs:user", state h(eld) s(old) r(eleased)
    KEYS[4]  activity:{ID}:gen     generation; absent: not loaded
    KEYS[5]  activity:{ID}:seen    bitmap of the buyers who may have had an order; absent, or no text: anybody may
    ARGV     for each order its id, its user, its quantity, and the hash of the user id; at most 1000 orders
  Returns 'not_ready' (also for a counter that is no number), or in ARGV order for each order
    units    taken from the stock, for an order that was released or is not known
    0        it is sold already, or was still held: then it is sold from its hold, and the stock stays
    -1       not yet: too few units are free, or its user is in another order; nothing was changed for it
  Everything is read and checked before the first write. A later order sees what an earlier one took.
]]
local free = tonumber(redis.call('GET', KEYS[1]))
if not free or redis.call('EXISTS', KEYS[4]) ~= 1 then
  return 'not_ready'
end

local orders, users = {}, {}
for i = 1, #ARGV, 4 do
  orders[#orders + 1] = ARGV[i]
  users[#users + 1] = ARGV[i + 1]
end
local time = redis.call('TIME')
local at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local known = redis.call('HMGET', KEYS[3], unpack(orders))
local active = redis.call('SMISMEMBER', KEYS[2], unpack(users))
local answers, marks, joined, joins, hashes, sold, total = {}, {}, {}, {}, {}, {}, 0
for i, order in ipairs(orders) do
  local quantity = tonumber(ARGV[i * 4 - 1])
  local state = 'unknown'
  if known[i] then
    state = string.match(known[i], '^([hsr]):%d+:%d+:')
    if not state then
      return redis.error_reply('LAPSE_STOCK_CORRUPT hold of order ' .. order)
    end
  end
  answers[i] = 0
  if state == 'h' then
    if not sold[order] then
      sold[order] = true
      marks[#marks + 1] = order
      marks[#marks + 1] = 's' .. string.sub(known[i], 2)
    end
  elseif state ~= 's' and not sold[order] then
    if active[i] == 1 or joined[users[i]] or free < quantity then
      answers[i] = -1
    else
      free = free - quantity
      total = total + quantity
      answers[i] = quantity
      sold[order] = true
      joined[users[i]] = true
      joins[#joins + 1] = users[i]
      hashes[#hashes + 1] = tonumber(ARGV[i * 4])
      marks[#marks + 1] = order
      marks[#marks + 1] = 's:' .. string.format('%.0f', quantity) .. ':' .. at .. ':' .. users[i]
    end
  end
end

-- The counter first: it may still be no whole number, and then nothing else is written.
if total > 0 then
  redis.call('DECRBY', KEYS[1], total)
  redis.call('SADD', KEYS[2], unpack(joins))
  -- The load may have left this buyer out, whose order had ended and whose key was forgotten.
  local length = redis.pcall('STRLEN', KEYS[5])
  local bits = type(length) == 'number' and length * 8 or 0
  for _, hash in ipairs(bits > 0 and hashes or {}) do
    redis.call('SETBIT', KEYS[5], hash % bits, 1)
  end
end
if #marks > 0 then
  redis.call('HSET', KEYS[3], unpack(marks))
end
return answers
