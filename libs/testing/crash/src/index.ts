export { bundleProgram } from './bundle-program';
export { seededRandom, type Random } from './seeded-random';
export { startRestartablePostgres, type RestartablePostgres } from './restartable-postgres';
export { runNemesis, type Fault, type NemesisOptions, type NemesisReport } from './nemesis';
export { SupervisedProcess, type ProgramOptions } from './supervised-process';
