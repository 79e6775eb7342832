/** The object that `npm run twins -- --json` prints once the twins serve. */
import { z } from "zod";

export const twinsDescription = z.object({
  base_url: z.string(),
  api_key: z.string(),
  /** Signs a browser in once; absent without a console. */
  console_url: z.string().optional(),
  sandboxes: z.array(
    z.object({
      id: z.string(),
      twins: z.array(
        z.object({
          name: z.string(),
          url: z.string(),
          control_url: z.string(),
          control_auth: z.literal("api_key").nullable(),
          environment: z.record(z.string(), z.string()),
        }),
      ),
    }),
  ),
  agent_environment: z.record(z.string(), z.string()),
});

export type TwinsDescription = z.infer<typeof twinsDescription>;
