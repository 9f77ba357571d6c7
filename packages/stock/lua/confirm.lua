--[[
  Turn the holds of paid orders into sales. Safe to run any number of times.
    KEYS[1]  activity:{ID}:holds   hash: order -> "state:quantity:atMs:user", state h(eld) s(old) r(eleased)
    KEYS[2]  activity:{ID}:gen     generation; absent: not loaded
    ARGV     order ids, 1 to 1000 (unpack fails near 8000)
  Returns 'not_ready', or in ARGV order the units each order moved from held to sold: 0 means it held none,
  or had sold them before. Stock and users stay as they are: a paid order is still active.
  Everything is read and checked before the first write.
]]
if redis.call('EXISTS', KEYS[2]) ~= 1 then
  return 'not_ready'
end

local known = redis.call('HMGET', KEYS[1], unpack(ARGV))
local moved, marks, seen = {}, {}, {}
for i, order in ipairs(ARGV) do
  local units = 0
  if known[i] and not seen[order] then
    seen[order] = true
    local state, quantity = string.match(known[i], '^([hsr]):(%d+):%d+:')
    if not state then
      return redis.error_reply('LAPSE_STOCK_CORRUPT hold of order ' .. order)
    end
    if state == 'h' then
      units = tonumber(quantity)
      marks[#marks + 1] = order
      marks[#marks + 1] = 's' .. string.sub(known[i], 2)
    end
  end
  moved[i] = units
end

if #marks > 0 then
  redis.call('HSET', KEYS[1], unpack(marks))
end
return moved
