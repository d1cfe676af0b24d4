export const processes = {
  'processes.title': 'Prozesse',
  'processes.lead': 'Ressourcenverbrauch dieser Konsole in den letzten {span}.',
  'processes.every': 'Live, jede Sekunde',

  'processes.cpu': 'CPU, alle Prozesse',
  'processes.cpu.unit': '% eines Kerns',
  'processes.memory': 'Speicher, alle Prozesse',
  'processes.loop': 'Event-Loop',
  'processes.loop.worst': 'max. {value}',
  'processes.count': 'Prozesse',
  'processes.uptime': 'läuft seit {age}',

  'processes.chart.loop': 'Event-Loop des Hosts, ms',
  'processes.chart.loop.note': 'Über {limit} wird es träge.',
  'processes.chart.cpu': 'CPU aller Prozesse, %',
  'processes.chart.now': 'jetzt',

  'processes.table': 'Prozesse',
  'processes.column.name': 'Prozess',
  'processes.column.role': 'Rolle',
  'processes.column.pid': 'PID',
  'processes.column.cpu': 'CPU',
  'processes.column.cpuHistory': 'CPU, 2 min',
  'processes.column.memory': 'Speicher',
  'processes.column.memoryHistory': 'Speicher, 2 min',
  'processes.spark.cpu': 'CPU von {name}, letzte 2 min, jetzt {value}',
  'processes.spark.memory': 'Speicher von {name}, letzte 2 min, jetzt {value}',

  'processes.failed.title': 'Prozessmetriken sind nicht verfügbar',
  'processes.failed.text': 'Der Host stellt sie nicht bereit. Alles andere funktioniert.',
} as const;
