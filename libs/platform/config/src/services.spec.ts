import { serviceVariable } from './services';

it('a variable of a service bears its name, with underscores', () => {
  const database: 'DAK_MAIL_DATABASE_URL' = serviceVariable('mail', 'DATABASE_URL');
  const port: 'DAK_INDIA_STACK_GRPC_PORT' = serviceVariable('india-stack', 'GRPC_PORT');
  expect([database, port]).toEqual(['DAK_MAIL_DATABASE_URL', 'DAK_INDIA_STACK_GRPC_PORT']);
});
