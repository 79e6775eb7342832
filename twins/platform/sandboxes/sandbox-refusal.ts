/** The first sandbox, which exists as long as the process runs. */
export const FIRST_SANDBOX = "dev";

/** Why a sandbox was not created or not removed, as the routes answer it. */
export class SandboxRefusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "SandboxRefusal";
    this.status = status;
    this.code = code;
  }
}
