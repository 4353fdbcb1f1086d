import type { Pool, PoolClient } from 'pg';

export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((cause: unknown) => {
      broken = cause instanceof Error ? cause : new Error('rollback failed');
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
