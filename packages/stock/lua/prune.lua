--[[
  Forget markers of orders released long ago: see forgetReleased for when that is safe.
    KEYS[1]  activity:{ID}:holds   hash: order -> "state:quantity:atMs:user"
    ARGV     age in ms that a marker must have, then 1 to 1000 order ids
  Returns how many were forgotten. Held and sold orders are never touched.
]]
local time = redis.call('TIME')
local before = time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[1])
local orders = { unpack(ARGV, 2) }
local known = redis.call('HMGET', KEYS[1], unpack(orders))
local old = {}
for i, order in ipairs(orders) do
  local at = known[i] and string.match(known[i], '^r:%d+:(%d+):')
  if at and tonumber(at) <= before then
    old[#old + 1] = order
  end
end
if #old == 0 then
  return 0
end
return redis.call('HDEL', KEYS[1], unpack(old))
