export { failureReport, type FailureLog } from './failure-report';
export { createLogger, createLoggers, type Logger } from './logger';
