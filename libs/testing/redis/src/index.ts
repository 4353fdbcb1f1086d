export { describeWithRedis, type TestRedis } from './redis-server';
