--[[
  Put a loaded snapshot in the place of an activity's keys, all at once: nobody sees half of it, and two loads at
  the same time cannot mix.
    KEYS[1]  activity:{ID}:stock
    KEYS[2]  activity:{ID}:users
    KEYS[3]  activity:{ID}:holds
    KEYS[4]  activity:{ID}:gen
    KEYS[5]  staged users   set, expires by itself; absent when there are none
    KEYS[6]  staged holds   hash, the same
    ARGV     generation, free units, number of holds (each with another user)
  Returns 1, or 0 when what was staged is not complete (expired, or lost with a restart); then nothing changed.
]]
local expected = tonumber(ARGV[3])
if redis.call('SCARD', KEYS[5]) ~= expected or redis.call('HLEN', KEYS[6]) ~= expected then
  return 0
end

if expected > 0 then
  redis.call('RENAME', KEYS[5], KEYS[2])
  redis.call('PERSIST', KEYS[2])
  redis.call('RENAME', KEYS[6], KEYS[3])
  redis.call('PERSIST', KEYS[3])
else
  redis.call('UNLINK', KEYS[2], KEYS[3])
end
redis.call('SET', KEYS[1], ARGV[2])
-- Last, as the sign that the rest is there.
redis.call('SET', KEYS[4], ARGV[1])
return 1
