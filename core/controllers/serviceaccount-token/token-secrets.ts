export const NAME_ANNOTATION = 'kubernetes.io/service-account.name';
export const UID_ANNOTATION = 'kubernetes.io/service-account.uid';

/** Only secrets of this type are watched. */
export const TOKEN_SECRETS = { fieldSelector: 'type=kubernetes.io/service-account-token' } as const;
