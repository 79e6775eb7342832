/** What both programs' tool answers. */
export function incident(args: { service: string; severity: number; title: string }) {
  return { id: "INC-1042", ...args, status: "open", on_call: "Maya Lindqvist" };
}
