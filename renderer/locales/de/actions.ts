export const actionsPage = {
  'actions.title': 'Aktionsverlauf',
  'actions.lead': { one: '{count} Aktion.', other: '{count} Aktionen.' },
  'actions.list': 'Aktionen',
  'actions.note':
    'Was Sie mit dieser Konsole auf diesem Rechner geändert haben. Änderungen lassen sich rückgängig machen, bis das Fenster geschlossen wird.',
  'actions.none': 'Noch keine Aktionen',
  'actions.none.text':
    'Was Sie mit dieser Konsole ändern, steht hier: Objekte mit einem Weg zurück, und Vorgänge an Clustern.',
  'actions.clear': 'Liste leeren',
  'actions.undo': 'Rückgängig machen',
  'actions.undone': 'Rückgängig gemacht',
  'actions.readOnly': 'Dieser Cluster ist schreibgeschützt. Erlauben Sie zuerst Änderungen',
} as const;
