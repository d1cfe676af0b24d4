export const processes = {
  'processes.title': 'Processes',
  'processes.lead': 'What this console itself costs, over the last {span}.',
  'processes.every': 'Live, every second',

  'processes.cpu': 'CPU, all processes',
  'processes.cpu.unit': '% of one core',
  'processes.memory': 'Memory, all processes',
  'processes.loop': 'Event-loop delay',
  'processes.loop.worst': 'worst {value}',
  'processes.count': 'Processes',
  'processes.uptime': 'running for {age}',

  'processes.chart.loop': 'Event-loop delay of the host, ms',
  'processes.chart.loop.note': 'Above {limit} a window feels slow.',
  'processes.chart.cpu': 'CPU of all processes, %',
  'processes.chart.now': 'now',

  'processes.table': 'Processes',
  'processes.column.name': 'Process',
  'processes.column.role': 'Role',
  'processes.column.pid': 'PID',
  'processes.column.cpu': 'CPU',
  'processes.column.cpuHistory': 'CPU, 2 min',
  'processes.column.memory': 'Memory',
  'processes.column.memoryHistory': 'Memory, 2 min',
  'processes.spark.cpu': 'CPU of {name}, last 2 min, now {value}',
  'processes.spark.memory': 'Memory of {name}, last 2 min, now {value}',

  'processes.failed.title': 'Process vitals are not available',
  'processes.failed.text': 'The host does not offer them. Everything else works without them.',
} as const;
