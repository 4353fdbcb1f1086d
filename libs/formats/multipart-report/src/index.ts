export {
  parseReportFields,
  reportAddress,
  reportField,
  reportMta,
  type ReportField,
} from './report-fields';
export {
  findOwnPart,
  findReturnedMessage,
  ownParts,
  readReturnedText,
  reportText,
  type ReturnedMessage,
} from './report-parts';
