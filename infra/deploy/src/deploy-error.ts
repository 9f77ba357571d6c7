/** What is to be deployed is not right, or could not be tried. The message says what, and what was seen. */
export class DeployError extends Error {
  override readonly name = 'DeployError';
  readonly code:
    | 'LAPSE_DEPLOY_TREE'
    | 'LAPSE_DEPLOY_START'
    | 'LAPSE_DEPLOY_COMMAND'
    | 'LAPSE_DEPLOY_MANIFEST'
    | 'LAPSE_DEPLOY_SUPPLY';

  constructor(code: DeployError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
