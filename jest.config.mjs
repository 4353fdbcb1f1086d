/** Unit specs stand beside their file; `*.int.spec.ts` under `test/` need a database. Both run by default. */
export default {
  testEnvironment: '<rootDir>/libs/testing/open-handles/src/jest-environment.ts',
  roots: ['<rootDir>/apps', '<rootDir>/e2e', '<rootDir>/libs'],
  testMatch: ['**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/fixtures/', '/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  moduleNameMapper: {
    '^@dak/kernel$': '<rootDir>/libs/kernel/src/index.ts',
    '^@dak/formats/(.*)$': '<rootDir>/libs/formats/$1/src/index.ts',
    '^@dak/contracts/(.*)$': '<rootDir>/libs/contracts/src/$1/index.ts',
    '^@dak/platform/(.*)$': '<rootDir>/libs/platform/$1/src/index.ts',
    '^@dak/testing/(.*)$': '<rootDir>/libs/testing/$1/src/index.ts',
    '^@dak/([a-z-]+)$': '<rootDir>/apps/$1/src/service.ts',
  },
  transform: {
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'commonjs' } },
    ],
  },
  // These are ES modules only, or import some, which jest requires as CommonJS.
  transformIgnorePatterns: [
    '/node_modules/(?!(htmlparser2|domhandler|domutils|dom-serializer|domelementtype|entities|html-to-text|@selderee|selderee|parseley|leac|peberminta|nanoid|franc-min|trigram-utils|n-gram|collapse-white-space|svix|eventsource-parser|graphile-worker|jose|pg-boss|@opentelemetry/otlp-exporter-base)/)',
  ],
  globalSetup: '<rootDir>/libs/testing/database/src/jest-global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/database/src/jest-global-teardown.ts',
  testTimeout: 30_000,
  maxWorkers: 2,
};
