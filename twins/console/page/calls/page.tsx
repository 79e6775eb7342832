import { Heading } from "../ui/layout.tsx";

export function Calls() {
  return <Heading title="Calls" />;
}
