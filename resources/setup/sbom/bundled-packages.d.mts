export declare const packageOfModule: (id: string) => string | undefined;
