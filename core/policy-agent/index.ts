export { PolicyAgent } from './policy-agent.ts';
export { PodFirewall, type PodFirewallOptions } from './pod-firewall.ts';
