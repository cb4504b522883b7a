(* ocamldap: HOST PORT discard|ldif. Entries are taken as they come. *)
let () =
  let connection = Ldap_funclient.init [ Printf.sprintf "ldap://%s:%s" Sys.argv.(1) Sys.argv.(2) ] in
  Ldap_funclient.bind_s connection ~who:"" ~cred:"";
  let ldif = Sys.argv.(3) = "ldif" in
  let message = Ldap_funclient.search connection ~base:"o=test" "(objectClass=*)" in
  let count = ref 0 in
  let text = Buffer.create 65536 in
  (try
     while true do
       match Ldap_funclient.get_search_entry connection message with
       | `Entry entry ->
           incr count;
           if ldif then begin
             Ldif_oo.entry2ldif text (Ldap_ooclient.to_entry (`Entry entry)) |> ignore;
             if Buffer.length text > 60000 then begin
               Buffer.output_buffer stdout text;
               Buffer.clear text
             end
           end
       | `Referral _ -> ()
     done
   with Ldap_types.LDAP_Failure (`SUCCESS, _, _) -> ());
  Buffer.output_buffer stdout text;
  if not ldif then Printf.printf "%d\n" !count
