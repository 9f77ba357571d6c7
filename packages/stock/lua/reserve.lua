--[[
  Hold stock for orders of one activity, each as if it came alone, in the order of ARGV. Sent again for the same order
  it answers the same and moves nothing.
    KEYS[1]  activity:{ID}:stock   counter: units that are free
    KEYS[2]  activity:{ID}:users   set of users with an active order
    KEYS[3]  activity:{ID}:holds   hash: order -> "state:quantity:atMs:user", state h(eld) s(old) r(eleased)
    KEYS[4]  activity:{ID}:gen     generation these keys were loaded under; absent: not loaded
    KEYS[5]  activity:{ID}:seen    bitmap of the buyers who may have had an order since the load, or had one that the
             load knew; absent, or no text: anybody may
    ARGV     generation; then for each order, at most 128: order id, user id, quantity, hash of the user id: a whole
             number below 2^32
  Returns, in the order of ARGV, one each of
    reserved    the order holds its units (or has sold them)
    released    this order was given back before, and never holds again
    differs     this order is held for another user or quantity
    user_holds  another order of this user is active
    sold_out    fewer units are free than asked for, and this buyer may have had an order here before
    sold_out_newcomer  the same, and this buyer never had one: no key of theirs has an answer to repeat here
    not_ready   not loaded, loaded under another generation, or the counter is not one that a script wrote: for all
  Everything is read and decided before the first write, so a refusal leaves no trace, unless it is for want of the right to
  a later write. Nine commands, and one for each order.
]]
local count = (#ARGV - 1) / 4
local answers, orders, users = {}, {}, {}
for i = 1, count do
  answers[i], orders[i], users[i] = 'not_ready', ARGV[4 * i - 2], ARGV[4 * i - 1]
end

-- Lua takes 12.5, 0x10 and inf for numbers too, and DECRBY takes none of them: only what DECRBY writes counts.
local function counterOf(text)
  local whole = text and (text == '0' or string.match(text, '^%-?[1-9]%d*$')) and #text <= 15
  return whole and tonumber(text)
end

local free = counterOf(redis.call('GET', KEYS[1]))
if redis.call('GET', KEYS[4]) ~= ARGV[1] or not free then
  return answers
end

local known = redis.call('HMGET', KEYS[3], unpack(orders))
local active = redis.call('SMISMEMBER', KEYS[2], unpack(users))
-- The map's length is its size. No bit is set where there is none: a new map would know only those who come from now on.
local length = redis.pcall('STRLEN', KEYS[5])
local bits = type(length) == 'number' and length * 8 or 0
-- The time of this server: holds are compared with each other, never with a worker's clock.
local time = redis.call('TIME')
local at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))

-- What this call itself takes, by order and by user: several may be of one order or one user.
local holds, holders = {}, {}
local takenUnits, takenUsers, takenHolds, takenBits = 0, {}, {}, {}
for i = 1, count do
  local order, user, quantity = orders[i], users[i], tonumber(ARGV[4 * i])
  local bit = bits > 0 and tonumber(ARGV[4 * i + 1]) % bits
  local hold = known[i] or holds[order]
  if hold then
    local state, units, holder = string.match(hold, '^([hsr]):(%d+):%d+:(.*)$')
    if state == 'r' then
      answers[i] = 'released'
    elseif not state or holder ~= user or tonumber(units) ~= quantity then
      answers[i] = 'differs'
    else
      answers[i] = 'reserved'
    end
  elseif active[i] == 1 or holders[user] then
    answers[i] = 'user_holds'
  elseif free - takenUnits < quantity then
    answers[i] = bit and redis.call('GETBIT', KEYS[5], bit) == 0 and 'sold_out_newcomer' or 'sold_out'
  else
    answers[i] = 'reserved'
    holds[order] = 'h:' .. string.format('%.0f', quantity) .. ':' .. at .. ':' .. user
    holders[user] = true
    takenUnits = takenUnits + quantity
    takenUsers[#takenUsers + 1] = user
    takenHolds[#takenHolds + 1] = order
    takenHolds[#takenHolds + 1] = holds[order]
    if bit then
      takenBits[#takenBits + 1] = bit
    end
  end
end

if #takenUsers > 0 then
  -- Before MySQL can know the order. It stays when the order ends: then its key still has an answer.
  for _, bit in ipairs(takenBits) do
    redis.call('SETBIT', KEYS[5], bit, 1)
  end
  redis.call('DECRBY', KEYS[1], string.format('%.0f', takenUnits))
  redis.call('SADD', KEYS[2], unpack(takenUsers))
  redis.call('HSET', KEYS[3], unpack(takenHolds))
end
return answers
