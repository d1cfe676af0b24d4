/** What is not known about controllers. */
export const controllers = {
  'controllers.gap.foreign':
    "queues and reconciliations are unknown: controller managers of this cluster answer on their own hosts only, and upstream's record no reconciliations",
  'controllers.gap.lease': 'the Lease of a manager could not be read: {why}',
  'controllers.gap.format': 'the response is not that of a controller manager of this version',
} as const;
