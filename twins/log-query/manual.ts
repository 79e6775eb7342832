/** How the log-query twin behaves, for who drives it. */
import type { TwinManual } from "../sandbox/manual/manual.ts";

export const logQueryManual: TwinManual = {
  credentials: [
    {
      id: "splunk.accounts",
      text: "Accounts are rows of users, and session keys and tokens rows of sessions; a fresh sandbox has the account admin with the password splunk-twin-password, and its token splunk-twin-token.",
    },
    {
      id: "splunk.refused-credentials",
      text: "No credentials, a wrong password or a key that is unknown is a 401 in the vendor's words.",
    },
  ],
  repeatedWrites: [
    {
      id: "splunk.login-again",
      text: "Each login gives a session key of its own; those given before stay good until they are ended or an hour passes without use.",
    },
  ],
};
