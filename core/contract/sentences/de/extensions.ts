export const extensions = {
  'extension.problem.name':
    '{name} ist kein gültiger Name; erlaubt sind höchstens 40 Kleinbuchstaben, Ziffern und Bindestriche, beginnend mit einem Buchstaben',
  'extension.problem.notFolder': '{path} ist kein Ordner; Links wird nicht gefolgt',
  'extension.problem.noFile': '{file} fehlt',
  'extension.problem.notFile': '{file} ist keine gewöhnliche Datei; Links wird nicht gefolgt',
  'extension.problem.tooLarge': '{file} ist größer als {max}',
  'extension.problem.notText': '{file} ist kein gültiger UTF-8-Text',
  'extension.problem.manifest': '{file}: {why}',
  'extension.problem.tag': '{file} enthält „{tag}“; schreiben Sie es in zwei Teilen',
  'extension.problem.unreadable': '{file} kann nicht gelesen werden: {why}',
  'failure.extension.absent': 'Erweiterung {name} wurde in {folder} nicht gefunden',
  'failure.extension.changed':
    'die Dateien der Erweiterung {name} haben sich geändert; prüfen Sie sie erneut',
  'failure.extension.notAllowed': 'Erweiterung {name} ist nicht erlaubt; prüfen und erlauben Sie sie zuerst',
  'failure.extension.undeclared':
    'Erweiterung {name} darf {resource} nicht lesen; ihr Manifest nennt: {declared}',
  'failure.extension.notServed': 'der Server bietet {resource} nicht an',
  'failure.extension.busy':
    'Erweiterung {name} hat {max} laufende Anfragen; warten Sie, bis eine beendet ist',
} as const;
