/** What a person did with this console. */
export const actionsPage = {
  'actions.title': 'Action history',
  'actions.lead': { one: '{count} action.', other: '{count} actions.' },
  'actions.list': 'Actions',
  'actions.note':
    'What you changed with this console on this machine. Undo is offered until the window is closed.',
  'actions.none': 'No actions yet',
  'actions.none.text':
    'Changes that you make with this console are listed here: objects with a way to undo them, and operations on clusters.',
  'actions.clear': 'Clear list',
  'actions.undo': 'Undo',
  'actions.undone': 'Undone',
  'actions.readOnly': 'This cluster is read-only. Allow changes first',
} as const;
