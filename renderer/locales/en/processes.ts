export const processes = {
  'processes.title': 'Processes',
  'processes.lead': 'Resource usage of this console over the last {span}.',
  'processes.every': 'Live, every second',

  'processes.cpu': 'CPU, all processes',
  'processes.cpu.unit': '% of one core',
  'processes.memory': 'Memory, all processes',
  'processes.loop': 'Event-loop delay',
  'processes.loop.worst': 'max {value}',
  'processes.count': 'Processes',
  'processes.uptime': 'up for {age}',

  'processes.chart.loop': 'Event-loop delay of the host, ms',
  'processes.chart.loop.note': 'Above {limit}, windows feel slow.',
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

  'processes.failed.title': 'Process metrics are not available',
  'processes.failed.text': 'The host does not provide them. Everything else works.',
} as const;
