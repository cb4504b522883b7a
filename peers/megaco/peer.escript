#!/usr/bin/env escript
%%! -noinput +S 1
%% Erlang's megaco application as a peer: reads frames of a message in each of our encodings, and answers each with what
%% OTP makes of it. A frame has four octets of length; in it, each part has them too. Request: the text that the message
%% comes from, then pretty, compact, ber, per, erl_dist, and erl_dist with megaco_compressed, compressed, and both, as we
%% encode them (empty if we cannot). Answer: for each of the nine, the term that OTP decodes, in the external format; then
%% for the latter eight, what OTP encodes from the erl_dist term. Before each part stands `1`, or `0` if the part is the
%% reason of a refusal.
-mode(compile).

main(_) ->
    loop(open_port({fd, 0, 1}, [binary, {packet, 4}, eof])).

loop(Port) ->
    receive
        {Port, {data, Frame}} ->
            [Text | Encoded] = parts(Frame),
            Term = lists:nth(5, Encoded),
            Version = version(Term),
            Decoded = [decode(C, Version, Octets) || {C, Octets} <- lists:zip([text | codecs()], [Text | Encoded])],
            Ours = [encode(C, Term) || C <- codecs()],
            port_command(Port, [[Ok, <<(iolist_size(O)):32>>, O] || {Ok, O} <- Decoded ++ Ours]),
            loop(Port);
        {Port, eof} -> ok
    end.

parts(<<L:32, Part:L/binary, Rest/binary>>) -> [Part | parts(Rest)];
parts(<<>>) -> [].

codecs() -> [pretty, compact, ber, per, dist, dist_mc, dist_c, dist_mcc].

codec(text) -> {megaco_pretty_text_encoder, []};
codec(pretty) -> {megaco_pretty_text_encoder, []};
codec(compact) -> {megaco_compact_text_encoder, []};
codec(ber) -> {megaco_ber_encoder, []};
codec(per) -> {megaco_per_encoder, []};
codec(dist) -> {megaco_erl_dist_encoder, []};
codec(dist_mc) -> {megaco_erl_dist_encoder, [megaco_compressed]};
codec(dist_c) -> {megaco_erl_dist_encoder, [compressed]};
codec(dist_mcc) -> {megaco_erl_dist_encoder, [megaco_compressed, compressed]}.

version(Term) ->
    {'MegacoMessage', _, {'Message', Version, _, _}} = binary_to_term(Term),
    Version.

decode(_, _, <<>>) -> {$0, <<"not asked">>};
decode(C, Version, Octets) ->
    {Module, Config} = codec(C),
    %% OTP finds the version of a binary message with the module of version 2 and then does not look again.
    Wanted = if C =:= ber; C =:= per -> Version; true -> dynamic end,
    try Module:decode_message(Config, Wanted, Octets) of
        {ok, Message} -> {$1, term_to_binary(Message)};
        Other -> refused(Other)
    catch _:Reason -> refused(Reason)
    end.

encode(_, <<>>) -> {$0, <<"not asked">>};
encode(C, Term) ->
    {Module, Config} = codec(C),
    try Module:encode_message(Config, version(Term), binary_to_term(Term)) of
        {ok, Octets} -> {$1, Octets};
        Other -> refused(Other)
    catch _:Reason -> refused(Reason)
    end.

refused(Why) -> {$0, unicode:characters_to_binary(io_lib:format("~0tP", [Why, 30]))}.
