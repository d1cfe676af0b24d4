/** What the host says about extensions of the console. */
export const extensions = {
  'extension.problem.name':
    '{name} is not a valid name; use lowercase letters, digits and hyphens, at most 40, starting with a letter',
  'extension.problem.notFolder': '{path} is not a folder; links are not followed',
  'extension.problem.noFile': '{file} is missing',
  'extension.problem.notFile': '{file} is not a plain file; links are not followed',
  'extension.problem.tooLarge': '{file} is larger than {max}',
  'extension.problem.notText': '{file} is not valid UTF-8 text',
  'extension.problem.manifest': '{file}: {why}',
  'extension.problem.tag': '{file} contains "{tag}"; write it in two parts',
  'extension.problem.unreadable': 'cannot read {file}: {why}',
  'failure.extension.absent': 'extension {name} not found in {folder}',
  'failure.extension.changed': 'the files of extension {name} have changed; review it again',
  'failure.extension.notAllowed': 'extension {name} is not allowed; review and allow it first',
  'failure.extension.undeclared':
    'extension {name} may not read {resource}; its manifest declares: {declared}',
  'failure.extension.notServed': 'the server does not serve {resource}',
  'failure.extension.busy': 'extension {name} has {max} requests in progress; wait for one to finish',
} as const;
