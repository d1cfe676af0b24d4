export const doctorPage = {
  'doctorPage.title': 'Diagnose',
  'doctorPage.scope': 'Die Diagnose untersucht den Cluster. Für eine Anwendung, die nicht antwortet:',
  'doctorPage.scope.graph': 'Graph öffnen',
  'doctorPage.lead.ok': 'Keine Probleme gefunden.',
  'doctorPage.lead.absent': {
    one: '{count} Prüfung war nicht möglich.',
    other: '{count} Prüfungen waren nicht möglich.',
  },
  'doctorPage.lead.problems': { one: '{count} Problem', other: '{count} Probleme' },
  'doctorPage.lead.warnings': { one: '{count} Warnung', other: '{count} Warnungen' },
  'doctorPage.examining': 'Cluster wird untersucht',
  'doctorPage.failed': 'Die Untersuchung ist fehlgeschlagen',
  'doctorPage.again': 'Erneut untersuchen',
  'doctorPage.findings': 'Befunde',
  'doctorPage.findings.note': 'Probleme zuerst, jeweils mit Belegen und Abhilfe',
  'doctorPage.gaps': 'Nicht untersucht',
} as const;
