--[[
  Put a loaded snapshot in the place of an activity's keys, all at once: nobody sees half of it, and two loads at
  the same time cannot mix.
    KEYS[1]  activity:{ID}:stock
    KEYS[2]  activity:{ID}:users
    KEYS[3]  activity:{ID}:holds
    KEYS[4]  activity:{ID}:gen
    KEYS[5]  activity:{ID}:capacity
    KEYS[6]  activity:{ID}:load     token of the load that is there
    KEYS[7]  activity:{ID}:seen     bitmap of the buyers who may have had an order
    KEYS[8]  staged users   set, expires by itself; absent when there are none
    KEYS[9]  staged holds   hash, the same
    KEYS[10] staged seen    bitmap, the same
    ARGV     generation, free units, number of holds (each with another user), "version:capacity", token of this
             load, token that must be there ('' for none), length of the bitmap in bytes (0 for none)
  Returns 1; or, with nothing changed, 0 when what was staged is not complete (expired, or lost with a restart),
  -1 when another load came in between: this one is late, and brings what is over.
  Every step costs the same however many orders there are: SCARD, HLEN and STRLEN are counters, and UNLINK hands the old
  keys to another thread. A RENAME over them would free them here, one by one.
]]
-- A token of another type is none: pcall, so that it is replaced too.
local there = redis.pcall('GET', KEYS[6])
if (type(there) == 'string' and there or '') ~= ARGV[6] then
  return -1
end
local expected, length = tonumber(ARGV[3]), tonumber(ARGV[7])
if redis.call('SCARD', KEYS[8]) ~= expected or redis.call('HLEN', KEYS[9]) ~= expected
  or redis.call('STRLEN', KEYS[10]) ~= length then
  return 0
end

redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[7])
if expected > 0 then
  redis.call('RENAME', KEYS[8], KEYS[2])
  redis.call('PERSIST', KEYS[2])
  redis.call('RENAME', KEYS[9], KEYS[3])
  redis.call('PERSIST', KEYS[3])
end
if length > 0 then
  redis.call('RENAME', KEYS[10], KEYS[7])
  redis.call('PERSIST', KEYS[7])
end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[5], ARGV[4])
redis.call('SET', KEYS[6], ARGV[5])
-- Last, as the sign that the rest is there.
redis.call('SET', KEYS[4], ARGV[1])
return 1
