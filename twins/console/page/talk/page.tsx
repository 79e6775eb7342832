import { Heading } from "../ui/layout.tsx";

export function Talk() {
  return <Heading title="Talk" />;
}
