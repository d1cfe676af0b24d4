export const doctorPage = {
  'doctorPage.title': 'Doctor',
  'doctorPage.lead.ok': 'No problems found.',
  'doctorPage.lead.problems': { one: '{count} problem', other: '{count} problems' },
  'doctorPage.examining': 'Examining the cluster',
  'doctorPage.failed': 'Examination failed',
  'doctorPage.again': 'Examine again',
  'doctorPage.findings': 'Diagnosis',
  'doctorPage.findings.note': 'problems first, each with evidence and remedy',
  'doctorPage.gaps': 'Could not be asked for',
} as const;
