export * from './records';
export * from './event-data';
export * from './template-records';
