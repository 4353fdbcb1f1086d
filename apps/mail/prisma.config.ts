import { join } from 'node:path';
import { defineConfig } from 'prisma/config';

/** Prisma's commands require a default export. */
export default defineConfig({
  schema: join(__dirname, 'prisma/schema.prisma'),
  migrations: { path: join(__dirname, 'prisma/migrations') },
  datasource: { url: process.env['DAK_MAIL_DATABASE_URL'] ?? '' },
});
