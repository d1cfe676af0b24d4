export { GROUP, VERSION } from './documents.ts';
export { MetricsServer, type MetricsSource } from './metrics-server.ts';
export { scrapeNodes, type ScrapeTarget } from './scraper.ts';
export { serveMetrics, type MetricsListener } from './serve.ts';
