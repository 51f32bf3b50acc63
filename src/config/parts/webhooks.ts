import { parseEndpoints, type WebhookEndpoint, WebhookUrlsProblem } from '../../webhooks/endpoint.js';
import { ConfigProblem } from '../sources.js';

/** Reads `WEBHOOK_URLS`. @throws ConfigProblem that names the line, and no value */
export function readWebhooks(text: string | undefined): readonly WebhookEndpoint[] {
  try {
    return parseEndpoints(text ?? '');
  } catch (error) {
    if (!(error instanceof WebhookUrlsProblem)) throw error;
    throw new ConfigProblem(`WEBHOOK_URLS: ${error.message}`);
  }
}
