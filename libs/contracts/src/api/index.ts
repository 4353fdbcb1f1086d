export * from './records';
export * from './domain-records';
export * from './event-data';
export * from './rule-records';
export * from './template-records';
export * from './webhook-records';
export * from './analytics-records';
