export * from '../generated/dak/ledger/v1/ledger_service';
export * from './entry';
