--[[
  Follow a change of an activity's capacity that MySQL has committed. Safe to run any number of times, and in any
  order: a version is taken once, and an older one than the one that is there is over.
    KEYS[1]  activity:{ID}:stock      counter: units that are free
    KEYS[2]  activity:{ID}:gen        generation; absent: not loaded
    KEYS[3]  activity:{ID}:capacity   "version:capacity" that stock, held and sold units add up to
    ARGV     version, capacity
  Returns one of
    done       the stock has moved by the difference, now or before
    not_yet    fewer units are free than must go: those that are free have gone, and the version stays the old one
    not_ready  not loaded
  Taking what is free at once keeps a sale that is under way from selling the rest of it again and again.
]]
local free = tonumber(redis.call('GET', KEYS[1]))
local old, units = string.match(redis.call('GET', KEYS[3]) or '', '^(%d+):(%d+)$')
if redis.call('EXISTS', KEYS[2]) ~= 1 or not free or not old then
  return 'not_ready'
end
local version, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
if tonumber(old) >= version then
  return 'done'
end

local move = capacity - tonumber(units)
local answer = 'done'
if free + move < 0 then
  -- Not -free: that of none is -0, which INCRBY does not read.
  move = 0 - free
  answer = 'not_yet'
  version, capacity = tonumber(old), tonumber(units) - free
end
redis.call('INCRBY', KEYS[1], string.format('%.0f', move))
redis.call('SET', KEYS[3], string.format('%.0f:%.0f', version, capacity))
return answer
