export { failureReport, type FailureLog } from './failure-report';
export { createLogger, type Logger } from './logger';
