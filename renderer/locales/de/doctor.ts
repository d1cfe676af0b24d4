export const doctorPage = {
  'doctorPage.title': 'Diagnose',
  'doctorPage.lead.ok': 'Keine Probleme gefunden.',
  'doctorPage.lead.problems': { one: '{count} Problem', other: '{count} Probleme' },
  'doctorPage.examining': 'Cluster wird untersucht',
  'doctorPage.failed': 'Die Untersuchung ist fehlgeschlagen',
  'doctorPage.again': 'Erneut untersuchen',
  'doctorPage.findings': 'Befunde',
  'doctorPage.findings.note': 'Probleme zuerst, jeweils mit Belegen und Abhilfe',
  'doctorPage.gaps': 'Nicht abfragbar',
} as const;
