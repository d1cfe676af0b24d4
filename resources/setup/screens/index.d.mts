export interface Screen {
  readonly name: string;
  readonly go: string;
  readonly stage?: string;
}
export const SCREENS: readonly Screen[];
