import type { HardeningMeasure, HardeningWishes } from '../../../core/contract/index.ts';

/** What is typed on the page. */
export interface HardenForm {
  readonly skip: readonly HardeningMeasure[];
  backupDirectory: string;
  issuerUrl: string;
  clientId: string;
  usernameClaim: string;
  groupsClaim: string;
}

export const emptyForm = (): HardenForm => ({
  skip: [],
  backupDirectory: '',
  issuerUrl: '',
  clientId: '',
  usernameClaim: 'sub',
  groupsClaim: '',
});

/** An issuer is named with its client, and by https. */
export const oidcProblem = ({ issuerUrl, clientId, usernameClaim }: HardenForm): boolean => {
  const [issuer, client] = [issuerUrl.trim(), clientId.trim()];
  if (issuer === '' && client === '') return false;
  return !issuer.startsWith('https://') || client === '' || usernameClaim.trim() === '';
};

export const wishesOf = (form: HardenForm): HardeningWishes => {
  const directory = form.backupDirectory.trim();
  const groups = form.groupsClaim.trim();
  const isOidc = form.issuerUrl.trim() !== '' && !oidcProblem(form);
  return {
    skip: [...form.skip],
    backupDirectory: directory === '' ? null : directory,
    oidc: isOidc
      ? {
          issuerUrl: form.issuerUrl.trim(),
          clientId: form.clientId.trim(),
          usernameClaim: form.usernameClaim.trim(),
          groupsClaim: groups === '' ? null : groups,
        }
      : null,
  };
};
