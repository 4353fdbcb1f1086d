import { createHash } from 'node:crypto';

export interface RedisScript {
  text: string;
  sha1: string;
}

function script(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/**
 * `takeTokens` of token-bucket.ts on the server's clock. ARGV: limit, window in ms, cost.
 * Reply: allowed, remaining, reset ms, retry-after ms.
 */
export const TAKE_TOKENS = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local before = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local function left(full)
  if limit <= 0 then return 0 end
  return math.max(0, math.floor((now + window - full + 1e-6) / (window / limit)))
end
if limit <= 0 or cost > limit then
  return { 0, left(before), math.ceil(before - now), window }
end
local after = math.max(now, before + cost * window / limit)
local excess = after - now - window
if excess > 1e-6 then
  return { 0, left(before), math.ceil(before - now - 1e-6), math.ceil(excess - 1e-6) }
end
if after > now then
  redis.call('SET', KEYS[1], string.format('%.17g', after), 'PX', math.ceil(after - now))
elseif cost < 0 then
  redis.call('DEL', KEYS[1])
end
return { 1, left(after), math.ceil(after - now - 1e-6), 0 }
`);

/** ARGV: token, ttl in ms. */
export const ACQUIRE_LEASE = script(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** ARGV: token, ttl in ms. */
export const EXTEND_LEASE = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** ARGV: token. */
export const RELEASE_LEASE = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);
