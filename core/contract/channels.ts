/** The two Electron IPC channels of the contract, one each way. Nothing else crosses between page and app. */
export const CLIENT_CHANNEL = 'contract:client';
export const HOST_CHANNEL = 'contract:host';
