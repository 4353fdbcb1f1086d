export { ApiClient, type ApiReply, type ApiRequest } from './api-client';
export { replyValidator, type ReplyValidator } from './validate-reply';
