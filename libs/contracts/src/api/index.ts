export * from './records';
export * from './event-data';
