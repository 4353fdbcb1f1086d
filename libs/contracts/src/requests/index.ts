export * from './message-fields';
export * from './parse-request';
export * from './request-shapes';
export { describeIssue } from './validation-sentence';
